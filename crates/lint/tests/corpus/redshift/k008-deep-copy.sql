-- form: script
-- expect: none
BEGIN;
CREATE TABLE public.listing_sorted (LIKE public.listing);
INSERT INTO public.listing_sorted (listing_id, seller_id, list_time, price)
SELECT listing_id, seller_id, list_time, price FROM public.listing ORDER BY list_time;
DROP TABLE public.listing;
ALTER TABLE public.listing_sorted RENAME TO listing;
COMMIT;
