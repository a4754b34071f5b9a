-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS vat_rate (
  country CHAR(2) NOT NULL,
  rate DECIMAL(5,2) NOT NULL,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (country)
);
INSERT INTO vat_rate (country, rate) VALUES ('DE', 19.00), ('FR', 20.00), ('LU', 17.00)
ON DUPLICATE KEY UPDATE rate = VALUES(rate);
