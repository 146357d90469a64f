#!/bin/sh
# As the official image: NEO4J_AUTH=neo4j/PASSWORD or none, NEO4J_server_memory_pagecache_size=64m, console mode.
set -euf
home=/neo4j
mkdir -p "$home/conf" "$home/data" /tmp
cp "$home/server-logs.xml" "$home/user-logs.xml" "$home/conf/"
{
    [ "${NEO4J_AUTH:-}" != none ] || echo "dbms.security.auth_enabled=false"
    env | sed -n -e '/^NEO4J_\(AUTH\|MAIN\)=/d' -e '/^NEO4J_[a-z]/{s/^NEO4J_//;h;s/=.*//;s/__/\n/g;s/_/./g;s/\n/_/g;x;s/^[^=]*//;H;x;s/\n//;p}'
} > "$home/conf/neo4j.conf"
java="/java/bin/java -Xmx${HEAP:-768m} -Xms${HEAP:-768m} -XX:NewRatio=1 -XX:+UseSerialGC -cp $home/lib/*
      --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED"
if [ "${NEO4J_AUTH:-none}" != none ] && [ ! -e "$home/data/dbms" ]; then
    NEO4J_HOME=$home NEO4J_CONF=$home/conf $java org.neo4j.cli.AdminTool dbms set-initial-password "${NEO4J_AUTH#neo4j/}"
fi
exec $java "$NEO4J_MAIN" --home-dir="$home" --config-dir="$home/conf" --console-mode
