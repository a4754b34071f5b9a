-- form: script
-- expect: none
-- clean-up pass over the listings of one import batch, may be started as often as needed
BEGIN;

UPDATE realestate.listing
   SET price_cents = round(price_eur * 100),
       postcode    = upper(replace(postcode, ' ', '')),
       city        = coalesce(city, 'unknown'),
       rooms       = greatest(rooms, 1)
 WHERE batch_id = %(batch_id)s;

UPDATE realestate.listing l
   SET price_per_m2 = l.price_eur / nullif(l.living_area, 0)
 WHERE l.batch_id = %(batch_id)s;

-- median per postcode, listing_id only counts
WITH m AS (
    SELECT postcode,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY price_eur) AS median_eur,
           count(listing_id) AS n
      FROM realestate.listing
     WHERE batch_id = %(batch_id)s
     GROUP BY postcode
)
UPDATE realestate.listing l
   SET above_median = (l.price_eur > m.median_eur)
  FROM m
 WHERE m.postcode = l.postcode
   AND l.batch_id = %(batch_id)s;

COMMIT;
