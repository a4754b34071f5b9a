-- form: script
-- expect: OM314 warning `INTO dbo.ActiveMembers`
SELECT m.MemberID, m.FirstName, m.LastName, g.GymName
INTO dbo.ActiveMembers
FROM dbo.Members m
JOIN dbo.Gyms g ON g.GymID = m.GymID
WHERE m.CancelledOn IS NULL;
