-- form: model
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY isin ORDER BY quoted_on DESC)`
/* oncemore
kind: full
key: [isin]
*/
SELECT isin, close_price
FROM raw.quote
WHERE TRUE
QUALIFY ROW_NUMBER() OVER (PARTITION BY isin ORDER BY quoted_on DESC) = 1
