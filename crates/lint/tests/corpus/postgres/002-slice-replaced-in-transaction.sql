-- form: script
-- expect: none
BEGIN;

DELETE FROM mart.ward_occupancy
WHERE census_date >= :interval_start AND census_date < :interval_end;

INSERT INTO mart.ward_occupancy (census_date, ward_id, beds_taken, beds_open)
WITH stays AS (
  SELECT s.ward_id, s.bed_no, c.day AS census_date
  FROM hospital.stay s
  JOIN ref.calendar c
    ON c.day >= s.admitted_on AND c.day < coalesce(s.discharged_on, 'infinity'::date)
  WHERE c.day >= :interval_start AND c.day < :interval_end
), beds AS (
  SELECT ward_id, count(*) AS beds FROM hospital.bed GROUP BY ward_id
)
SELECT st.census_date, st.ward_id, count(DISTINCT st.bed_no), max(b.beds) - count(DISTINCT st.bed_no)
FROM stays st
JOIN beds b ON b.ward_id = st.ward_id
GROUP BY st.census_date, st.ward_id;

COMMIT;
