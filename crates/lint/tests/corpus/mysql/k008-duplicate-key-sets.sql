-- form: script
-- expect: none
INSERT INTO dim_station (station_code, station_name, lat, lon, updated_at)
SELECT s.code, MAX(s.name), MAX(s.lat), MAX(s.lon), NOW()
FROM stg_station s
GROUP BY s.code
ON DUPLICATE KEY UPDATE
    station_name = VALUES(station_name),
    lat = VALUES(lat),
    lon = VALUES(lon),
    updated_at = VALUES(updated_at);
