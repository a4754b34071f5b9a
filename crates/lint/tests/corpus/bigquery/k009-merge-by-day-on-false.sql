-- form: script
-- expect: none
MERGE INTO `acme.dwh.page_day` T
USING (
  SELECT day, page, COUNT(*) AS views
  FROM `acme.raw.hit`
  WHERE day = @day
  GROUP BY day, page
) S
ON T.day = S.day AND T.page = S.page
WHEN MATCHED THEN UPDATE SET views = S.views
WHEN NOT MATCHED BY TARGET THEN INSERT (day, page, views) VALUES (S.day, S.page, S.views)
WHEN NOT MATCHED BY SOURCE AND T.day = @day THEN DELETE;
