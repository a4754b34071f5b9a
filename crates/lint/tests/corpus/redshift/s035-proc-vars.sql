-- form: script
-- expect: OM405 error `sale_day >= p_from AND sale_day <= p_to`
CREATE OR REPLACE PROCEDURE mart.load(p_from DATE, p_to DATE) AS $$
BEGIN
  DELETE FROM mart.s WHERE sale_day >= p_from AND sale_day < p_to;
  INSERT INTO mart.s (sale_day, n) SELECT sale_day, COUNT(*) FROM raw.s WHERE sale_day >= p_from AND sale_day <= p_to GROUP BY sale_day;
END;
$$ LANGUAGE plpgsql;
