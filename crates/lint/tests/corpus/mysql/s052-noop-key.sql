-- form: script
-- expect: OM302 error `ON DUPLICATE KEY UPDATE tag_id = mart.tag.tag_id`
INSERT INTO mart.tag (tag_id, name) SELECT tag_id, name FROM raw.tag WHERE day = '{{ ds }}' ON DUPLICATE KEY UPDATE tag_id = mart.tag.tag_id;
