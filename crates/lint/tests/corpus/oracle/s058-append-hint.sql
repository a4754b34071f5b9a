-- form: script
-- expect: OM301 error `INSERT /*+ APPEND */ INTO dwh.hit`
INSERT /*+ APPEND */ INTO dwh.hit (day, page_id, n) SELECT h.day, h.page_id, COUNT(*) FROM raw.hit h WHERE h.day = TO_DATE(:day, 'YYYY-MM-DD') GROUP BY h.day, h.page_id;
COMMIT;
