-- form: script
-- expect: OM101 error `CURRENT_DATE`
BEGIN;
TRUNCATE hr.employee_report;
INSERT INTO hr.employee_report (emp_no, full_name, dept_name, tenure_years)
SELECT e.emp_no,
       e.first_name || ' ' || e.last_name,
       d.dept_name,
       EXTRACT(YEAR FROM age(CURRENT_DATE, e.hire_date))
FROM hr.employees e
JOIN hr.dept_emp de ON de.emp_no = e.emp_no AND de.to_date = '9999-01-01'
JOIN hr.departments d ON d.dept_no = de.dept_no;
COMMIT;
