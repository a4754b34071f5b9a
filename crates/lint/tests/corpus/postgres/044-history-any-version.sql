-- form: script
-- expect: OM316 error `INSERT INTO hr.salary_history`
INSERT INTO hr.salary_history (employee_no, salary, currency, effective_from)
SELECT s.employee_no, s.salary, s.currency, s.effective_from
FROM hr_raw.salary AS s
JOIN hr.salary_history AS h ON h.employee_no = s.employee_no
WHERE h.salary <> s.salary OR h.currency <> s.currency;
