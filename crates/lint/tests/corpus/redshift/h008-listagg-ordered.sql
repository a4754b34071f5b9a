-- form: script
-- expect: none
BEGIN;
DELETE FROM mkt.tag_summary WHERE tagged_on = '{{ ds }}';
INSERT INTO mkt.tag_summary (tagged_on, doc_id, tags)
SELECT tagged_on, doc_id,
       LISTAGG(DISTINCT tag, ',') WITHIN GROUP (ORDER BY tag)
FROM mkt.doc_tag
WHERE tagged_on = '{{ ds }}'
GROUP BY tagged_on, doc_id;
COMMIT;
