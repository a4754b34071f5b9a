-- form: script
-- expect: OM302 error `INSERT IGNORE`
-- expect: OM205 error `GROUP_CONCAT(t.name SEPARATOR ';')`
-- because: INSERT IGNORE keeps the old row, a new title or tag never gets into the feed. order of the tags in the stored string is not given.
-- flat file for the search indexer
-- {{ params.site }} is one of: nl, be, de

INSERT IGNORE INTO cms_reporting.search_feed (article_id, site, title, tag_list, published_on)
SELECT
    a.id,
    '{{ params.site }}',
    MAX(a.title),
    GROUP_CONCAT(t.name SEPARATOR ';'),
    MAX(DATE(a.published_at))
FROM cms.article a
JOIN cms.article_tag x ON x.article_id = a.id
JOIN cms.tag t         ON t.id = x.tag_id
WHERE a.site = '{{ params.site }}'
  AND a.published_at >= '{{ ds }}'
  AND a.published_at <  '{{ macros.ds_add(ds, 1) }}'
  AND a.state = 'published'
GROUP BY a.id;
