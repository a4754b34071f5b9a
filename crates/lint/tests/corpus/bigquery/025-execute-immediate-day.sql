-- form: script
-- expect: none
CREATE OR REPLACE PROCEDURE etl.load_donations(p_day DATE)
BEGIN
  BEGIN TRANSACTION;
  DELETE FROM mart.donation_day WHERE day = p_day;
  INSERT INTO mart.donation_day (day, campaign, donors, cents)
  SELECT donated_on, campaign, COUNT(DISTINCT donor_id), SUM(cents)
  FROM raw.donations
  WHERE donated_on = p_day
  GROUP BY donated_on, campaign;
  COMMIT TRANSACTION;
END;
