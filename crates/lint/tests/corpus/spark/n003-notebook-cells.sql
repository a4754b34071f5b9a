-- form: script
-- expect: none
-- Databricks notebook source
-- MAGIC %md
-- MAGIC # Gold sales

-- COMMAND ----------

USE CATALOG main;

-- COMMAND ----------

CREATE OR REPLACE TABLE gold.sales AS
SELECT store_id, sum(amount) AS amount
FROM silver.sales
GROUP BY store_id

-- COMMAND ----------

OPTIMIZE gold.sales ZORDER BY (store_id)
