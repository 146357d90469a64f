// name: facts_in_groups
// Fact versions that pass.
// params: scopes, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit
// returns: found: facts
UNWIND $scopes AS s
MATCH ()-[r:RELATES_TO {group_id: s.group}]->()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $limit
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_by_uuid
// Fact versions by uuid.
// params: scopes, ids
// returns: found: facts; ends: the entities that they join
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {group_id: s.group, uuid: id}]->()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
WITH DISTINCT r
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found, collect(r.source_node_uuid) + collect(r.target_node_uuid) AS ends

// name: facts_by_fact_id
// Fact versions by fact.
// params: scopes, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit
// returns: found: facts
UNWIND $scopes AS s
UNWIND $fact_ids AS id
MATCH ()-[r:RELATES_TO {group_id: s.group, gm_fact_id: id}]->()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH DISTINCT r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $limit
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_by_source
// Fact versions with one of these entities as source.
// params: scopes, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit
// returns: found: facts
UNWIND $scopes AS s
UNWIND $sources AS id
MATCH (:Entity {group_id: s.group, uuid: id})-[r:RELATES_TO]->()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH DISTINCT r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $limit
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_by_target
// Fact versions with one of these entities as target.
// params: scopes, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit
// returns: found: facts
UNWIND $scopes AS s
UNWIND $targets AS id
MATCH (:Entity {group_id: s.group, uuid: id})<-[r:RELATES_TO]-()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH DISTINCT r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $limit
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_by_entity
// Fact versions with one of these entities at either end.
// params: scopes, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit
// returns: found: facts
UNWIND $scopes AS s
UNWIND $entities AS id
MATCH (:Entity {group_id: s.group, uuid: id})-[r:RELATES_TO]-()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH DISTINCT r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $limit
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_by_relation
// Fact versions of these relations.
// params: scopes, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit, relation_indexes
// returns: found: facts
UNWIND $scopes AS s
UNWIND $relation_indexes AS id
MATCH ()-[r:RELATES_TO {group_id: s.group, gm_relation_index: id}]->()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH DISTINCT r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $limit
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_ever
// Every fact version ever believed in a group.
// params: group, pin
// returns: fact
MATCH ()-[r:RELATES_TO {group_id: $group}]->() WHERE r.gm_added <= $pin
RETURN r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes} AS fact
ORDER BY r.gm_from, r.uuid

// name: fact_uuids_ever
// The uuids of every fact version ever believed in a group, in the order of `facts_ever`.
// params: group, pin
// returns: ids
MATCH ()-[r:RELATES_TO {group_id: $group}]->() WHERE r.gm_added <= $pin
WITH r.gm_from AS start, r.uuid AS id ORDER BY start, id
RETURN collect(id) AS ids

// name: count_facts_ever
// How many fact versions were ever believed in a group.
// params: group, pin
// returns: count
MATCH ()-[r:RELATES_TO {group_id: $group}]->() WHERE r.gm_fact_id > '' AND r.gm_added <= $pin
RETURN count(r) AS count

// name: facts_ever_by_uuid
// Fact versions ever believed, by uuid.
// params: group, pin, ids
// returns: fact
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {group_id: $group, uuid: id}]->() WHERE r.gm_added <= $pin
WITH DISTINCT r ORDER BY r.gm_from, r.uuid
RETURN r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes} AS fact

// name: facts_ever_by_fact_id
// Every version of these facts.
// params: group, pin, ids
// returns: fact
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {group_id: $group, gm_fact_id: id}]->() WHERE r.gm_added <= $pin
WITH DISTINCT r ORDER BY r.gm_from, r.uuid
RETURN r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes} AS fact

// name: citations_all
// Citations believed.
// params: scopes
// returns: found: citations
UNWIND $scopes AS s
MATCH (c:GraphmemCitation {group_id: s.group})
WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since AND c.fact_id IS NOT NULL
WITH DISTINCT c
RETURN collect(c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended, .group_id}) AS found

// name: citations_by_fact
// Citations of these facts.
// params: scopes, ids
// returns: found: citations
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (c:GraphmemCitation {group_id: s.group, fact_id: id})
WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
WITH DISTINCT c
RETURN collect(c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended, .group_id}) AS found

// name: citations_by_episode
// Citations of these episodes.
// params: scopes, ids
// returns: found: citations
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (c:GraphmemCitation {group_id: s.group, episode: id})
WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
WITH DISTINCT c
RETURN collect(c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended, .group_id}) AS found

// name: sources
// The episodes that these fact versions cite.
// params: scopes, ids
// returns: found: uuid and episodes of each; episodes: all of them
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {group_id: s.group, uuid: id}]->() WHERE r.gm_added <= s.pin
MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
WITH r.uuid AS uuid, collect(DISTINCT c.episode) AS episodes
WITH collect([uuid, episodes]) AS found
RETURN found, reduce(all = [], pair IN found | all + pair[1]) AS episodes

// name: entities_in_groups
// Entities believed.
// params: scopes, ids, types, limit
// returns: found: entities
UNWIND $scopes AS s
MATCH (v:GraphmemEntity {group_id: s.group})
WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since AND v.id IS NOT NULL
  AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types)
WITH DISTINCT v ORDER BY v.name_key, v.id LIMIT $limit
RETURN collect(v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: entities_by_id
// Entities by id.
// params: scopes, ids
// returns: found: entities
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (v:GraphmemEntity {group_id: s.group, id: id})
WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
WITH DISTINCT v
RETURN collect(v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: entities_by_name
// Entities by the key of their name or of an alias.
// params: scopes, ids, types, limit, keys
// returns: found: entities
UNWIND $scopes AS s
UNWIND $keys AS key
MATCH (:GraphmemName {group_id: s.group, key: key})-[:GRAPHMEM_OF]->(v:GraphmemEntity)
WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
  AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types)
WITH DISTINCT v ORDER BY v.name_key, v.id LIMIT $limit
RETURN collect(v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: entities_ever
// Every version of these entities.
// params: group, pin, ids
// returns: entity
UNWIND $ids AS id
MATCH (v:GraphmemEntity {group_id: $group, id: id}) WHERE v.gm_added <= $pin
RETURN DISTINCT v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended} AS entity
ORDER BY entity.id, entity.gm_from

// name: mentions_all
// Mentions believed.
// params: scopes, limit
// returns: found: mention, entity and system of each
UNWIND $scopes AS s
MATCH (m:GraphmemMention)-[r:GRAPHMEM_NAMED {group_id: s.group}]->(e:Entity) USING INDEX r:GRAPHMEM_NAMED(group_id)
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
WITH DISTINCT m, r, e ORDER BY m.reference_time DESC, m.episode, m.position, e.uuid LIMIT $limit
RETURN collect({mention: m {.episode, .position, .entity, .name, .type, .span_start, .span_end, .attributes, .group_id, .reference_time}, entity: e.uuid, system: r {.gm_from, .gm_to, .gm_ended}}) AS found

// name: mentions_by_episode
// Mentions of these episodes; with entities, of these only.
// params: scopes, episodes, entities, limit
// returns: found: mention, entity and system of each
UNWIND $scopes AS s
UNWIND $episodes AS id
MATCH (m:GraphmemMention {group_id: s.group, episode: id})-[r:GRAPHMEM_NAMED]->(e:Entity)
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND ($entities IS NULL OR e.uuid IN $entities)
WITH DISTINCT m, r, e ORDER BY m.reference_time DESC, m.episode, m.position, e.uuid LIMIT $limit
RETURN collect({mention: m {.episode, .position, .entity, .name, .type, .span_start, .span_end, .attributes, .group_id, .reference_time}, entity: e.uuid, system: r {.gm_from, .gm_to, .gm_ended}}) AS found

// name: mentions_by_entity
// Mentions of these canonical entities.
// params: scopes, entities, limit
// returns: found: mention, entity and system of each
UNWIND $scopes AS s
UNWIND $entities AS id
MATCH (e:Entity {group_id: s.group, uuid: id})<-[r:GRAPHMEM_NAMED]-(m:GraphmemMention)
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
WITH DISTINCT m, r, e ORDER BY m.reference_time DESC, m.episode, m.position, e.uuid LIMIT $limit
RETURN collect({mention: m {.episode, .position, .entity, .name, .type, .span_start, .span_end, .attributes, .group_id, .reference_time}, entity: e.uuid, system: r {.gm_from, .gm_to, .gm_ended}}) AS found

// name: mentioned
// As mentions_by_entity, of each only the episode and the entity.
// params: scopes, masses, limit, most
// returns: found: episode and entity; episodes: the `most` that mention most, by the masses of the entities, each divided by the root of its episodes
UNWIND $scopes AS s
UNWIND $masses AS given
MATCH (e:Entity {group_id: s.group, uuid: given[0]})<-[r:GRAPHMEM_NAMED]-(m:GraphmemMention)
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
WITH DISTINCT m, r, e, given[1] AS mass ORDER BY m.reference_time DESC, m.episode, m.position, e.uuid LIMIT $limit
WITH collect([m.episode, e.uuid]) AS found, collect(DISTINCT {episode: m.episode, entity: e.uuid, mass: mass}) AS said
CALL (said) {
  UNWIND said AS x
  WITH x.entity AS entity, x.mass AS mass, collect(x.episode) AS episodes
  UNWIND episodes AS episode
  WITH episode, sum(mass / sqrt(size(episodes))) AS score ORDER BY score DESC, episode LIMIT $most
  RETURN collect(episode) AS episodes
}
RETURN found, episodes

// name: first_entities
// The first of these that are believed, of these types if some are given, and not of the one that is none.
// params: scopes, ids, types, type, limit
// returns: ids
UNWIND range(0, size($ids) - 1) AS place
UNWIND $scopes AS s
MATCH (v:GraphmemEntity {group_id: s.group, id: $ids[place]})
WHERE v.type <> $type AND ($types IS NULL OR v.type IN $types)
  AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
WITH DISTINCT place, v.id AS id ORDER BY place LIMIT $limit
RETURN collect(id) AS ids

// name: several
// The ids of several lists, each once.
// params: ids
// returns: ids
UNWIND $ids AS id
RETURN collect(DISTINCT id) AS ids

// name: episodes_in_order
// Visible episodes of whole groups, oldest first.
// params: scopes, ids, keys, kinds, sessions, actors, sources, entities, first, last, bodies, limit
// returns: found: episodes
UNWIND $scopes AS s
CALL (s) {
  MATCH (e:GraphmemEpisode {group_id: s.group})
  WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
  RETURN e ORDER BY e.group_id, e.reference_time, e.seq LIMIT $limit
}
RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes,
    body: CASE WHEN $bodies THEN e.body ELSE '' END}) AS found

// name: episodes_newest_first
// Visible episodes of whole groups, newest first.
// params: scopes, ids, keys, kinds, sessions, actors, sources, entities, first, last, bodies, limit
// returns: found: episodes
UNWIND $scopes AS s
CALL (s) {
  MATCH (e:GraphmemEpisode {group_id: s.group})
  WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
  RETURN e ORDER BY e.group_id DESC, e.reference_time DESC, e.seq DESC LIMIT $limit
}
RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes,
    body: CASE WHEN $bodies THEN e.body ELSE '' END}) AS found

// name: episodes_by_id
// Visible episodes by id.
// params: scopes, ids, bodies
// returns: found: episodes
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (e:GraphmemEpisode {group_id: s.group, id: id}) USING INDEX e:GraphmemEpisode(group_id, id)
WHERE CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
  ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
  AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
WITH DISTINCT e
RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes,
    body: CASE WHEN $bodies THEN e.body ELSE '' END}) AS found

// name: episodes_by_key
// Visible episodes by idempotency key.
// params: scopes, ids, keys, kinds, sessions, actors, sources, entities, first, last, bodies, newest_first, limit, key_indexes
// returns: found: episodes
UNWIND $scopes AS s
UNWIND $key_indexes AS id
MATCH (e:GraphmemEpisode {group_id: s.group, key_index: id}) USING INDEX e:GraphmemEpisode(group_id, key_index)
WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
WITH DISTINCT e
ORDER BY CASE WHEN $newest_first THEN -e.reference_time ELSE e.reference_time END, CASE WHEN $newest_first THEN -e.seq ELSE e.seq END,
    CASE WHEN $newest_first THEN '' ELSE e.id END, e.id DESC
LIMIT $limit
RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes,
    body: CASE WHEN $bodies THEN e.body ELSE '' END}) AS found

// name: episodes_by_session
// Visible episodes of these sessions.
// params: scopes, ids, keys, kinds, sessions, actors, sources, entities, first, last, bodies, newest_first, limit, session_indexes
// returns: found: episodes
UNWIND $scopes AS s
UNWIND $session_indexes AS id
MATCH (e:GraphmemEpisode {group_id: s.group, session_index: id})
WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
WITH DISTINCT e
ORDER BY CASE WHEN $newest_first THEN -e.reference_time ELSE e.reference_time END, CASE WHEN $newest_first THEN -e.seq ELSE e.seq END,
    CASE WHEN $newest_first THEN '' ELSE e.id END, e.id DESC
LIMIT $limit
RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes,
    body: CASE WHEN $bodies THEN e.body ELSE '' END}) AS found

// name: episodes_by_entity
// Visible episodes that mention one of these canonical entities.
// params: scopes, ids, keys, kinds, sessions, actors, sources, entities, first, last, bodies, newest_first, limit
// returns: found: episodes
UNWIND $scopes AS s
UNWIND $entities AS id
MATCH (:Entity {group_id: s.group, uuid: id})<-[:GRAPHMEM_NAMED]-(m:GraphmemMention)
MATCH (e:GraphmemEpisode {group_id: s.group, id: m.episode})
WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
WITH DISTINCT e
ORDER BY CASE WHEN $newest_first THEN -e.reference_time ELSE e.reference_time END, CASE WHEN $newest_first THEN -e.seq ELSE e.seq END,
    CASE WHEN $newest_first THEN '' ELSE e.id END, e.id DESC
LIMIT $limit
RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes,
    body: CASE WHEN $bodies THEN e.body ELSE '' END}) AS found

// name: around
// Of visible episodes, the visible ones just before and after in their session. A short session of which many are asked is read as a whole.
// params: scopes, ids, closest, most
// returns: found: id, before and after; beside: the neighbours of those among `closest`
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (e:GraphmemEpisode {group_id: s.group, id: id})
WHERE e.session_index IS NOT NULL AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
  ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
  AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
WITH s, e.session_index AS session, collect(DISTINCT e) AS asked, collect(DISTINCT e.id) AS named
CALL (s, session, asked) {
  WITH s, session WHERE 6 * size(asked) >= $most
  MATCH (p:GraphmemEpisode {group_id: s.group, session_index: session}) USING INDEX p:GraphmemEpisode(group_id, session_index, reference_time)
  WHERE p.reference_time IS NOT NULL
  WITH s, p LIMIT $most
  WITH s, collect(p) AS held
  WITH s, held WHERE size(held) < $most
  UNWIND held AS p
  WITH s, p WHERE CASE WHEN p.gm_from IS NOT NULL THEN p.gm_from <= s.system AND p.gm_shown <= s.pin
    ELSE any(i IN range(0, size(p.shown) - 1, 4) WHERE p.shown[i] <= s.system AND p.shown[i + 2] <= s.pin
    AND p.shown[i + 1] > s.since AND p.shown[i + 3] > s.still) END
  WITH p ORDER BY p.reference_time, p.seq
  RETURN collect(p.id) AS told
}
CALL (s, asked, named, told) {
  UNWIND range(0, size(told) - 1) AS place
  WITH named, told, place WHERE told[place] IN named
  RETURN told[place] AS id, CASE WHEN place > 0 THEN told[place - 1] END AS before, told[place + 1] AS after
  UNION ALL
  UNWIND CASE WHEN size(told) = 0 THEN asked ELSE [] END AS e
  CALL (s, e) {
    OPTIONAL MATCH (p:GraphmemEpisode {group_id: s.group, session_index: e.session_index})
    WHERE p.reference_time <= e.reference_time AND (p.reference_time < e.reference_time OR p.seq < e.seq)
      AND CASE WHEN p.gm_from IS NOT NULL THEN p.gm_from <= s.system AND p.gm_shown <= s.pin
        ELSE any(i IN range(0, size(p.shown) - 1, 4) WHERE p.shown[i] <= s.system AND p.shown[i + 2] <= s.pin
        AND p.shown[i + 1] > s.since AND p.shown[i + 3] > s.still) END
    RETURN p.id AS before ORDER BY p.group_id DESC, p.session_index DESC, p.reference_time DESC, p.seq DESC LIMIT 1
  }
  CALL (s, e) {
    OPTIONAL MATCH (p:GraphmemEpisode {group_id: s.group, session_index: e.session_index})
    WHERE p.reference_time >= e.reference_time AND (p.reference_time > e.reference_time OR p.seq > e.seq)
      AND CASE WHEN p.gm_from IS NOT NULL THEN p.gm_from <= s.system AND p.gm_shown <= s.pin
        ELSE any(i IN range(0, size(p.shown) - 1, 4) WHERE p.shown[i] <= s.system AND p.shown[i + 2] <= s.pin
        AND p.shown[i + 1] > s.since AND p.shown[i + 3] > s.still) END
    RETURN p.id AS after ORDER BY p.group_id, p.session_index, p.reference_time, p.seq LIMIT 1
  }
  RETURN e.id AS id, before, after
}
WITH collect([id, before, after]) AS found
RETURN found, [x IN found WHERE x[0] IN $closest | x[1]] + [x IN found WHERE x[0] IN $closest | x[2]] AS beside

// name: episodes_ranked
// What ranking asks of visible episodes.
// params: scopes, ids, read, compared
// returns: found: of each that is visible its id, its words, its row unless it was `read`, the halves of its pieces unless it was `compared`; ids: all
WITH $ids AS given
CALL (given) {
  UNWIND given AS id
  RETURN collect(DISTINCT id) AS ids
}
CALL (ids) {
  UNWIND $scopes AS s
  UNWIND ids AS id
  MATCH (e:GraphmemEpisode {group_id: s.group, id: id}) USING INDEX e:GraphmemEpisode(group_id, id)
  WHERE CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  CALL (id) {
    UNWIND CASE WHEN id IN $compared THEN [] ELSE [id] END AS owner
    MATCH (p:GraphmemEpisodePiece {owner: owner})
    WITH p ORDER BY p.piece
    RETURN collect(p.halves) AS halves
  }
  RETURN collect([id, coalesce(e.gm_said, e.gm_words), CASE WHEN NOT id IN $read THEN
    e {.id, .group_id, .seq, .key, .kind, .body, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes} END,
    CASE WHEN NOT id IN $compared THEN halves END]) AS found
}
RETURN found, ids

// name: counts
// How many rows pass.
// params: scopes
// returns: episodes, entities, facts, mentions
UNWIND $scopes AS s
CALL (s) { MATCH (e:GraphmemEpisode {group_id: s.group}) WHERE e.seq IS NOT NULL AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
  ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
  AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  RETURN count(e) AS episodes }
CALL (s) { MATCH (v:GraphmemEntity {group_id: s.group}) WHERE v.id IS NOT NULL AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
  RETURN count(v) AS entities }
CALL (s) { MATCH ()-[r:RELATES_TO {group_id: s.group}]->() WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  RETURN count(r) AS facts }
CALL (s) { MATCH ()-[r:GRAPHMEM_NAMED {group_id: s.group}]->() WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  RETURN count(r) AS mentions }
RETURN sum(episodes) AS episodes, sum(entities) AS entities, sum(facts) AS facts, sum(mentions) AS mentions
