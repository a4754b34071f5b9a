-- form: script
-- expect: none
REPLACE INTO search_doc (doc_id, title, body_len)
SELECT d.doc_id, d.title, CHAR_LENGTH(d.body)
FROM doc d
WHERE d.tenant_id = @tenant;
