-- form: script
-- expect: none
VACUUM DELETE ONLY mart.order_line TO 95 PERCENT;
ANALYZE mart.order_line PREDICATE COLUMNS;
GRANT SELECT ON mart.order_line TO GROUP analysts;
