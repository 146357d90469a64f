// name: log_page
// Episodes of a group in the order of its log.
// params: group, pin, after, limit
// returns: id
MATCH (e:GraphmemEpisode {group_id: $group}) WHERE e.seq > $after AND e.gm_added <= $pin
RETURN e.id AS id ORDER BY e.seq LIMIT $limit

// name: episode_id_by_key
// The episode of an idempotency key, none or one, and how far its group has come; without a pin all that is committed counts.
// Settings that were asked for before come with it.
// params: group, pin, key, key_index, metas
// returns: id, group_id, change, seq, at, links, targets, decisions, fact, entity, episode, metas: as `lock`
MATCH (g:GraphmemGroup {group_id: $group})
OPTIONAL MATCH (e:GraphmemEpisode {group_id: $group, key_index: $key_index})
WHERE e.key = $key AND e.gm_added <= coalesce($pin, g.change)
RETURN e.id AS id, g.group_id AS group_id, g.change AS change, g.seq AS seq, g.at AS at, g.links AS links, g.targets AS targets,
    g.decisions AS decisions, g.fact_vectors AS fact, g.entity_vectors AS entity, g.episode_vectors AS episode,
    COLLECT { UNWIND $metas AS name MATCH (m:GraphmemMeta {name_index: name}) RETURN [name, m.value] } AS metas

// name: records
// Episodes with everything that the log keeps of them.
// params: group, pin, ids
// returns: episode, assertions, mentions, links
UNWIND $ids AS id
MATCH (e:GraphmemEpisode {group_id: $group, id: id}) WHERE e.gm_added <= $pin
WITH DISTINCT e
RETURN properties(e) AS episode,
    COLLECT { MATCH (a:GraphmemAssertion {group_id: $group, episode: e.id}) RETURN properties(a) ORDER BY a.position, a.id } AS assertions,
    COLLECT { MATCH (m:GraphmemMention {group_id: $group, episode: e.id}) RETURN properties(m) ORDER BY m.position } AS mentions,
    COLLECT { MATCH (l:GraphmemLink {group_id: $group, episode: e.id}) RETURN [l.one, l.other] ORDER BY l.position } AS links
ORDER BY e.seq

// name: episode_heads
// Episodes without their bodies.
// params: group, pin, ids
// returns: episode
UNWIND $ids AS id
MATCH (e:GraphmemEpisode {group_id: $group, id: id}) WHERE e.gm_added <= $pin
WITH DISTINCT e ORDER BY e.seq
RETURN e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes} AS episode

// name: operations_all
// All operations of a group.
// params: group, pin
// returns: operation
MATCH (o:GraphmemOperation {group_id: $group}) WHERE o.id IS NOT NULL AND o.gm_added <= $pin
RETURN properties(o) AS operation ORDER BY o.seq

// name: operations_named
// Operations by id, or by one of their targets.
// params: group, pin, ids, targets
// returns: operation
CALL () {
  UNWIND $ids AS id MATCH (o:GraphmemOperation {group_id: $group, id: id}) RETURN o
  UNION
  UNWIND $targets AS id
  MATCH (t:GraphmemTarget {group_id: $group, target: id})
  MATCH (o:GraphmemOperation {group_id: $group, id: t.operation}) RETURN o
}
WITH o WHERE o.gm_added <= $pin
RETURN properties(o) AS operation ORDER BY o.seq

// name: assertions_by_id
// Assertions by id.
// params: group, pin, ids
// returns: assertion, head: of its episode
UNWIND $ids AS id
MATCH (a:GraphmemAssertion {group_id: $group, id: id}) WHERE a.gm_added <= $pin
WITH DISTINCT a
MATCH (e:GraphmemEpisode {group_id: $group, id: a.episode}) USING INDEX e:GraphmemEpisode(group_id, id)
RETURN properties(a) AS assertion,
    e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes} AS head
ORDER BY assertion.seq, assertion.position, assertion.id

// name: assertions_by_fact
// Assertions by the fact they speak of now.
// params: group, pin, ids
// returns: assertion, head: of its episode
UNWIND $ids AS id
MATCH (a:GraphmemAssertion {group_id: $group, fact_id: id}) WHERE a.gm_added <= $pin
WITH DISTINCT a
MATCH (e:GraphmemEpisode {group_id: $group, id: a.episode}) USING INDEX e:GraphmemEpisode(group_id, id)
RETURN properties(a) AS assertion,
    e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes} AS head
ORDER BY assertion.seq, assertion.position, assertion.id

// name: assertions_by_episode
// Assertions by episode.
// params: group, pin, ids
// returns: assertion
UNWIND $ids AS id
MATCH (a:GraphmemAssertion {group_id: $group, episode: id}) WHERE a.gm_added <= $pin
WITH DISTINCT a ORDER BY a.seq, a.position, a.id
RETURN properties(a) AS assertion

// name: assertions_by_entity
// Assertions by an entity at either end, as recorded or as of the fact they speak of now.
// params: group, pin, ids
// returns: assertion, head: of its episode
UNWIND $ids AS id
CALL (id) {
  MATCH (a:GraphmemAssertion {group_id: $group, source: id}) RETURN a
  UNION MATCH (a:GraphmemAssertion {group_id: $group, target: id}) RETURN a
  UNION MATCH (a:GraphmemAssertion {group_id: $group, key_source: id}) RETURN a
  UNION MATCH (a:GraphmemAssertion {group_id: $group, key_target: id}) RETURN a
}
WITH DISTINCT a WHERE a.gm_added <= $pin
MATCH (e:GraphmemEpisode {group_id: $group, id: a.episode}) USING INDEX e:GraphmemEpisode(group_id, id)
RETURN properties(a) AS assertion,
    e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes} AS head
ORDER BY assertion.seq, assertion.position, assertion.id

// name: assertions_by_deciding
// Assertions whose decisions name one of these.
// params: group, pin, ids
// returns: assertion, head: of its episode
UNWIND $ids AS id
MATCH (d:GraphmemDecision {group_id: $group, named: id})
MATCH (a:GraphmemAssertion {group_id: $group, id: d.assertion}) WHERE a.gm_added <= $pin
WITH DISTINCT a
MATCH (e:GraphmemEpisode {group_id: $group, id: a.episode}) USING INDEX e:GraphmemEpisode(group_id, id)
RETURN properties(a) AS assertion,
    e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes} AS head
ORDER BY assertion.seq, assertion.position, assertion.id

// name: keys_by_fact
// What facts are, by id.
// params: group, ids
// returns: fact_id, relation, source, target, variant
UNWIND $ids AS id
MATCH (a:GraphmemAssertion {group_id: $group, fact_id: id})
RETURN DISTINCT a.fact_id AS fact_id, a.key_relation AS relation, a.key_source AS source, a.key_target AS target, a.key_variant AS variant

// name: keys_by_slot
// What facts are that have one of these relations with that entity at their source or target.
// params: group, sources, targets
// returns: fact_id, relation, source, target, variant
CALL () {
  UNWIND $sources AS slot MATCH (a:GraphmemAssertion {group_id: $group, key_source: slot[1]}) WHERE a.key_relation = slot[0] RETURN a
  UNION
  UNWIND $targets AS slot MATCH (a:GraphmemAssertion {group_id: $group, key_target: slot[1]}) WHERE a.key_relation = slot[0] RETURN a
}
RETURN DISTINCT a.fact_id AS fact_id, a.key_relation AS relation, a.key_source AS source, a.key_target AS target, a.key_variant AS variant

// name: fact_ids
// Which fact each assertion speaks of now.
// params: group, ids
// returns: id, fact_id
UNWIND $ids AS id
MATCH (a:GraphmemAssertion {group_id: $group, id: id}) WHERE a.keyed
RETURN a.id AS id, a.fact_id AS fact_id

// name: links_of
// Links that name one of these entities.
// params: group, pin, ids
// returns: episode, one, other, seq, position
UNWIND $ids AS id
CALL (id) {
  MATCH (l:GraphmemLink {group_id: $group, one: id}) RETURN l
  UNION MATCH (l:GraphmemLink {group_id: $group, other: id}) RETURN l
}
WITH DISTINCT l WHERE l.gm_added <= $pin
RETURN l.episode AS episode, l.one AS one, l.other AS other, l.seq AS seq, l.position AS position ORDER BY seq, position

// name: mention_records
// Mentions recorded for these entities.
// params: group, pin, ids
// returns: mention
UNWIND $ids AS id
MATCH (m:GraphmemMention {group_id: $group, entity: id}) WHERE m.gm_added <= $pin
WITH DISTINCT m ORDER BY m.seq, m.position
RETURN properties(m) AS mention

// name: answer
// A recorded model answer.
// params: key_index
// returns: value, note
MATCH (a:GraphmemAnswer {key_index: $key_index}) RETURN a.value AS value, a.note AS note
