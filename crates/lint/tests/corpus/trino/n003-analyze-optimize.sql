-- form: script
-- expect: none
ALTER TABLE lake.core.events EXECUTE optimize(file_size_threshold => '128MB') WHERE day = DATE '{{ ds }}';
ALTER TABLE lake.core.events EXECUTE expire_snapshots(retention_threshold => '7d');
ANALYZE lake.core.events;
