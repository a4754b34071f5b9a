-- form: script
-- expect: OM205 warning `LISTAGG(t.tag, ',') WITHIN GROUP (ORDER BY NULL)`
DELETE FROM dwh.order_tags WHERE day = TO_DATE(:day, 'YYYY-MM-DD');
INSERT INTO dwh.order_tags (day, order_no, tags)
SELECT t.day, t.order_no, LISTAGG(t.tag, ',') WITHIN GROUP (ORDER BY NULL) FROM raw.tag t WHERE t.day = TO_DATE(:day, 'YYYY-MM-DD') GROUP BY t.day, t.order_no;
COMMIT;
