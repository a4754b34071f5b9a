-- form: model
-- expect: OM206 error `FETCH FIRST 500 ROWS ONLY`
/* oncemore
kind: full
key: [domain]
*/
SELECT domain, company, industry
FROM raw.company_domain
WHERE industry IS NOT NULL
FETCH FIRST 500 ROWS ONLY
