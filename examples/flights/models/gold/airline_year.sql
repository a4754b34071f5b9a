/* oncemore
kind: slice
description: The year's table of airlines, the most punctual first.
interval: year
time: year
key: [year, carrier]
audits:
  - unique: [year, place]
  - range: {column: on_time_share, min: 0, max: 1}
*/
WITH y AS (
    SELECT CAST(date_trunc('year', month) AS DATE) AS year,
           carrier,
           airline,
           sum(flights) AS flights,
           sum(cancelled) AS cancelled,
           CAST(sum(completed) - sum(late) AS DOUBLE) / nullif(sum(completed), 0) AS on_time_share
      FROM gold.carrier_month
     WHERE month >= :interval_start
       AND month < :interval_end
     GROUP BY CAST(date_trunc('year', month) AS DATE), carrier, airline
)
SELECT year,
       -- carrier decides between equal shares, so that the places are the same in every run
       -- oncemore: allow(OM201) because a carrier has one name: gold.airlines has a row for each
       CAST(row_number() OVER (PARTITION BY year ORDER BY on_time_share DESC NULLS LAST, carrier) AS BIGINT) AS place,
       carrier,
       airline,
       flights,
       cancelled,
       on_time_share
  FROM y
