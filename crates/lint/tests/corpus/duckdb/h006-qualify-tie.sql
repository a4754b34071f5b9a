-- form: script
-- expect: OM201 warning `row_number() over (partition by isbn order by scraped_at desc)`
create or replace table book_price as
select isbn, shop, price
from raw_price
qualify row_number() over (partition by isbn order by scraped_at desc) = 1;
