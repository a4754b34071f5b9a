-- form: script
-- expect: OM310 error `DELETE FROM ANALYTICS.BASKET_PROFILE`
-- expect: OM205 error `ARRAY_AGG(DISTINCT i.SKU)`
-- because: Without a transaction a crash between the two autocommitted statements leaves the day empty until somebody re-runs it. ARRAY_AGG has no order, so the stored SKU string of the same basket changes from run to run.
-- {{ dag.dag_id }} / basket_profile
SET RUN_DATE = '{{ ds }}'::DATE;

DELETE FROM ANALYTICS.BASKET_PROFILE
WHERE BASKET_DATE = $RUN_DATE;

INSERT INTO ANALYTICS.BASKET_PROFILE
  (BASKET_ID, BASKET_DATE, CUSTOMER_ID, SKU_LIST, ITEM_COUNT, NET_VALUE)
SELECT b.BASKET_ID,
       b.BASKET_DATE,
       b.CUSTOMER_ID,
       ARRAY_TO_STRING(ARRAY_AGG(DISTINCT i.SKU), '|')   AS SKU_LIST,
       COUNT(*)                                          AS ITEM_COUNT,
       SUM(i.NET_PRICE * i.QTY)                          AS NET_VALUE
FROM SALES.BASKET AS b
JOIN SALES.BASKET_ITEM AS i
  ON i.BASKET_ID = b.BASKET_ID
WHERE b.BASKET_DATE = $RUN_DATE
GROUP BY b.BASKET_ID, b.BASKET_DATE, b.CUSTOMER_ID;
