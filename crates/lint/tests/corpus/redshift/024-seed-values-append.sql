-- form: script
-- expect: OM301 error `INSERT INTO ref.holiday`
INSERT INTO ref.holiday (holiday_date, country, name) VALUES
('2024-01-01', 'AT', 'New Year'),
('2024-01-06', 'AT', 'Epiphany'),
('2024-05-01', 'AT', 'Labour Day');
