-- form: script
-- expect: OM305 error `SELECT coalesce(max(b.source_changed_at), 'epoch') INTO v_from FROM dwh.loan_balance b`
-- because: the window is read off the target, so neither a run for March nor a row that commits late with an older stamp can ever be fetched again
CREATE OR REPLACE FUNCTION dwh.refresh_loan_balance()
RETURNS integer
LANGUAGE plpgsql
AS $fn$
DECLARE
    v_from  timestamptz;
    v_rows  integer;
BEGIN
    SELECT coalesce(max(b.source_changed_at), 'epoch')
      INTO v_from
      FROM dwh.loan_balance b;

    INSERT INTO dwh.loan_balance AS t
           (loan_id, principal_cents, interest_cents, source_changed_at)
    SELECT l.loan_id, l.principal_cents, l.interest_cents, l.changed_at
      FROM core_banking.loan l          -- one row per loan, loan_id is its key
     WHERE l.changed_at > v_from
    ON CONFLICT (loan_id) DO UPDATE
       SET principal_cents   = EXCLUDED.principal_cents,
           interest_cents    = EXCLUDED.interest_cents,
           source_changed_at = EXCLUDED.source_changed_at;

    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END;
$fn$;
