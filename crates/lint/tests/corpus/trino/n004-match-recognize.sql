-- form: script
-- expect: none
DROP TABLE IF EXISTS lake.gold.drops;
CREATE TABLE lake.gold.drops AS
SELECT symbol, start_day, bottom_day
FROM lake.silver.quote
MATCH_RECOGNIZE (
    PARTITION BY symbol
    ORDER BY day
    MEASURES FIRST(day) AS start_day, LAST(DOWN.day) AS bottom_day
    ONE ROW PER MATCH
    PATTERN (STRT DOWN+)
    DEFINE DOWN AS price < PREV(price)
);
