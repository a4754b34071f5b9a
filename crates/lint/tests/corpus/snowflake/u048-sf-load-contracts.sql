-- form: script
-- expect: none
-- contracts: load file set of one day, upsert into core
CREATE OR REPLACE TEMPORARY TABLE stage.contract_in (
    contract_id  NUMBER NOT NULL,
    seq_no       NUMBER NOT NULL,
    changed_at   TIMESTAMP_NTZ NOT NULL,
    holder       VARCHAR,
    premium      NUMBER(12,2),
    state        VARCHAR,
    PRIMARY KEY (contract_id, seq_no)
);

COPY INTO stage.contract_in
FROM @raw.contracts/{{ ds_nodash }}/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

MERGE INTO core.contract t
USING (
    SELECT contract_id, seq_no, changed_at, holder, premium, state
    FROM stage.contract_in
    QUALIFY ROW_NUMBER() OVER (PARTITION BY contract_id ORDER BY changed_at DESC, seq_no DESC) = 1
) s
ON t.contract_id = s.contract_id
WHEN MATCHED AND s.changed_at >= t.changed_at THEN UPDATE SET
    t.seq_no = s.seq_no, t.changed_at = s.changed_at, t.holder = s.holder,
    t.premium = s.premium, t.state = s.state
WHEN NOT MATCHED THEN INSERT (contract_id, seq_no, changed_at, holder, premium, state)
    VALUES (s.contract_id, s.seq_no, s.changed_at, s.holder, s.premium, s.state);
