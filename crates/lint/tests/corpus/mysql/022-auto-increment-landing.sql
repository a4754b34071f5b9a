-- form: script
-- expect: none
-- because: the serial is only an address within the slice; the business key is stored too
CREATE TABLE IF NOT EXISTS landing_call (
  landing_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  call_no VARCHAR(40) NOT NULL,
  call_day DATE NOT NULL,
  seconds INT NOT NULL,
  UNIQUE KEY (call_no)
);
START TRANSACTION;
DELETE FROM landing_call WHERE call_day = @day;
INSERT INTO landing_call (call_no, call_day, seconds)
SELECT call_no, call_day, MAX(seconds) FROM switch_call WHERE call_day = @day GROUP BY call_no, call_day;
COMMIT;
