-- form: script
-- expect: none
TRUNCATE TABLE stg.SaleIn;
INSERT INTO stg.SaleIn (SaleDay, ShopNo, Amount) SELECT SaleDay, ShopNo, SUM(Amount) FROM raw.Sale WHERE SaleDay >= @From AND SaleDay < @To GROUP BY SaleDay, ShopNo;
ALTER TABLE dw.Sale SWITCH PARTITION $PARTITION.pfDay(@From) TO stg.SaleOut PARTITION $PARTITION.pfDay(@From);
ALTER TABLE stg.SaleIn SWITCH PARTITION $PARTITION.pfDay(@From) TO dw.Sale PARTITION $PARTITION.pfDay(@From);
TRUNCATE TABLE stg.SaleOut;
