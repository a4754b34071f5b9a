-- form: script
-- expect: none
CREATE SCHEMA IF NOT EXISTS ref;
CREATE TABLE IF NOT EXISTS ref.currency (
  code char(3) PRIMARY KEY,
  name text NOT NULL,
  minor_digits int NOT NULL DEFAULT 2,
  added_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE ref.currency ADD COLUMN IF NOT EXISTS symbol text;
INSERT INTO ref.currency (code, name, minor_digits, symbol) VALUES
  ('EUR', 'Euro', 2, '€'),
  ('JPY', 'Yen', 0, '¥'),
  ('KWD', 'Kuwaiti dinar', 3, NULL)
ON CONFLICT (code) DO UPDATE
SET name = EXCLUDED.name, minor_digits = EXCLUDED.minor_digits, symbol = EXCLUDED.symbol;
