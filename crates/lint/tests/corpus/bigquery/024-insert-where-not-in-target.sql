-- form: script
-- expect: OM304 error `i.image_id NOT IN (SELECT image_id FROM mart.images)`
INSERT INTO mart.images (image_id, width, height, format)
SELECT i.image_id, i.width, i.height, i.format
FROM raw.images i
WHERE i.image_id NOT IN (SELECT image_id FROM mart.images);
