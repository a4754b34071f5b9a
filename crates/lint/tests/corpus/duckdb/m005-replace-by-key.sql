-- form: script
-- expect: none
INSERT OR REPLACE INTO dim.station (station_id, name, lat, lon)
SELECT station_id, any_value(name ORDER BY updated_at DESC, name), max(lat), max(lon)
FROM stg.station
GROUP BY station_id;
