-- form: script
-- expect: none
CREATE DICTIONARY IF NOT EXISTS dict.currency
(
    code String,
    digits UInt8
)
PRIMARY KEY code
SOURCE(CLICKHOUSE(TABLE 'currency' DB 'ref'))
LIFETIME(MIN 300 MAX 600)
LAYOUT(COMPLEX_KEY_HASHED());
