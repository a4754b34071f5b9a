-- form: script
-- expect: none
BEGIN;
CREATE TEMP TABLE tmp_rates (LIKE ref.exchange_rate INCLUDING DEFAULTS) ON COMMIT DROP;
COPY tmp_rates (rate_date, base, quote, rate) FROM '/data/in/rates.csv' WITH (FORMAT csv, HEADER);
INSERT INTO ref.exchange_rate (rate_date, base, quote, rate)
SELECT rate_date, base, quote, MAX(rate)
FROM tmp_rates
GROUP BY rate_date, base, quote
ON CONFLICT (rate_date, base, quote) DO UPDATE SET rate = EXCLUDED.rate;
COMMIT;
