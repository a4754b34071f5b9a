-- form: script
-- expect: OM309 error `ViewCount += s.Views`
UPDATE v
SET ViewCount += s.Views
FROM web.Video v
JOIN (SELECT VideoID, COUNT(*) AS Views FROM web.ViewLog WHERE LogDate = @LogDate GROUP BY VideoID) s
	ON s.VideoID = v.VideoID;
