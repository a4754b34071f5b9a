-- form: script
-- expect: OM306 error `MERGE dw.Item`
DECLARE @log TABLE (act nvarchar(10), ItemNo int);
MERGE dw.Item WITH (HOLDLOCK) AS t
USING (SELECT ItemNo, MAX(Name) AS Name FROM stg.Item WHERE LoadDay = @Day AND ItemNo IS NOT NULL GROUP BY ItemNo) AS s ON s.ItemNo = t.ItemNo
WHEN NOT MATCHED BY TARGET THEN INSERT (ItemNo, Name) VALUES (s.ItemNo, s.Name)
OUTPUT $action, inserted.ItemNo INTO @log;
