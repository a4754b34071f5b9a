-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.paper AS
SELECT
  p.paper_id,
  p.title,
  STRING_AGG(a.name, '; ' ORDER BY pa.position, a.author_id) AS authors,
  LOGICAL_OR(a.is_corresponding) AS has_contact,
  ARRAY_LENGTH(ARRAY_AGG(DISTINCT a.country)) AS countries
FROM raw.papers p
JOIN raw.paper_authors pa ON pa.paper_id = p.paper_id
JOIN raw.authors a ON a.author_id = pa.author_id
GROUP BY p.paper_id, p.title;
