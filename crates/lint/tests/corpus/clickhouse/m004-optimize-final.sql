-- form: script
-- expect: none
OPTIMIZE TABLE mart.device_now FINAL DEDUPLICATE BY device_id;
SYSTEM RELOAD DICTIONARY dict.country;
