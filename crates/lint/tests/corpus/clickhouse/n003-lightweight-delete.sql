-- form: script
-- expect: none
ALTER TABLE mart.session DELETE WHERE user_id IN (SELECT user_id FROM gdpr.erase) SETTINGS mutations_sync = 2;
