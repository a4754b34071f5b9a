-- form: script
-- expect: OM202 error `row_number() OVER (PARTITION BY isbn)`
CREATE OR REPLACE TABLE books AS
SELECT isbn, title, publisher, pages
FROM raw.book_feed
QUALIFY row_number() OVER (PARTITION BY isbn) = 1;
