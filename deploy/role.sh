#!/bin/sh
# At the first start of the database: a role that owns the reports and nothing else.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$ADVISOR_DB_PASSWORD" --username "${POSTGRES_USER:-postgres}" <<'SQL'
CREATE ROLE advisor LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
CREATE DATABASE advisor OWNER advisor;
REVOKE ALL ON DATABASE advisor FROM PUBLIC;
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
SQL
