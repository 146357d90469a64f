// name: vector_owners
// Owners of vectors in a group that have staged ones too, or have not.
// params: group, staged
// returns: kind, owner
CALL () {
  MATCH ()-[r:RELATES_TO {group_id: $group}]->() WHERE r.gm_halves IS NOT NULL
  RETURN 'fact' AS kind, r.uuid AS owner
  UNION
  MATCH (p:GraphmemEntityPiece {group_id: $group}) WHERE p.owner IS NOT NULL AND p.piece IS NOT NULL
  RETURN DISTINCT 'entity' AS kind, p.owner AS owner
  UNION
  MATCH (p:GraphmemEpisodePiece {group_id: $group}) WHERE p.owner IS NOT NULL AND p.piece IS NOT NULL
  RETURN DISTINCT 'episode' AS kind, p.owner AS owner
  UNION
  MATCH (c:GraphmemCommunity {group_id: $group}) WHERE c.uuid IS NOT NULL AND c.gm_halves IS NOT NULL
  RETURN 'community' AS kind, c.uuid AS owner
}
WITH kind, owner
WHERE EXISTS { MATCH (:GraphmemStagedVector {group_id: $group, kind: kind, owner: owner}) } = $staged
RETURN kind, owner

// name: stage_vectors
// Keep vectors for later, instead of all that were staged for these owners.
// params: group, owners, rows
// returns: kept: how many rows have an owner
CALL () {
  UNWIND $owners AS o
  MATCH (s:GraphmemStagedVector {group_id: $group, kind: o.kind, owner: o.owner})
  DELETE s
}
CALL () {
  UNWIND $rows AS x
  WITH x WHERE CASE x.kind
    WHEN 'fact' THEN EXISTS { MATCH ()-[:RELATES_TO {group_id: $group, uuid: x.owner}]->() }
    WHEN 'entity' THEN EXISTS { MATCH (e:Entity {group_id: $group, uuid: x.owner}) WHERE e.gm_words IS NOT NULL }
    WHEN 'community' THEN EXISTS { MATCH (:GraphmemCommunity {group_id: $group, uuid: x.owner}) }
    ELSE EXISTS { MATCH (:GraphmemEpisode {group_id: $group, id: x.owner}) } END
  CREATE (s:GraphmemStagedVector {group_id: $group, kind: x.kind, owner: x.owner, piece: x.piece, halves: x.halves})
  WITH s, x
  CALL db.create.setNodeVectorProperty(s, 'vector', x.vector)
  RETURN count(*) AS kept
}
RETURN kept

// name: use_staged_vectors
// Put the staged vectors in the place of all vectors, in every group.
CALL () { MATCH ()-[r:RELATES_TO]->() WHERE r.gm_halves IS NOT NULL REMOVE r.gm_halves, r.fact_embedding }
CALL () { MATCH (p:GraphmemEntityPiece) DELETE p }
CALL () { MATCH (p:GraphmemEpisodePiece) DELETE p }
CALL () { MATCH (c:GraphmemCommunity) WHERE c.gm_halves IS NOT NULL REMOVE c.gm_halves, c.gm_embedding }
CALL () { MATCH (p:Community) REMOVE p.name_embedding }
CALL () { MATCH (e:Entity) WHERE e.gm_words IS NOT NULL REMOVE e.name_embedding }
CALL () {
  MATCH (s:GraphmemStagedVector) WHERE s.kind = 'fact'
  MATCH ()-[r:RELATES_TO {group_id: s.group_id, uuid: s.owner}]->()
  SET r.gm_halves = s.halves
  WITH r, s
  CALL db.create.setRelationshipVectorProperty(r, 'fact_embedding', s.vector)
}
CALL () {
  MATCH (s:GraphmemStagedVector) WHERE s.kind = 'entity'
  MERGE (p:GraphmemEntityPiece {group_id: s.group_id, owner: s.owner, piece: s.piece})
  SET p.halves = s.halves
  WITH p, s
  CALL db.create.setNodeVectorProperty(p, 'embedding', s.vector)
  WITH s WHERE s.piece = 0
  MATCH (e:Entity {group_id: s.group_id, uuid: s.owner})
  CALL db.create.setNodeVectorProperty(e, 'name_embedding', s.vector)
}
CALL () {
  MATCH (s:GraphmemStagedVector) WHERE s.kind = 'episode'
  MERGE (p:GraphmemEpisodePiece {group_id: s.group_id, owner: s.owner, piece: s.piece})
  SET p.halves = s.halves
  WITH p, s
  CALL db.create.setNodeVectorProperty(p, 'embedding', s.vector)
}
CALL () {
  MATCH (s:GraphmemStagedVector) WHERE s.kind = 'community'
  MATCH (c:GraphmemCommunity {group_id: s.group_id, uuid: s.owner})
  SET c.gm_halves = s.halves
  WITH c, s
  CALL db.create.setNodeVectorProperty(c, 'gm_embedding', s.vector)
  WITH c, s WHERE c.gm_ended = 4611686018427387904
  MATCH (p:Community {group_id: s.group_id, uuid: c.id})
  CALL db.create.setNodeVectorProperty(p, 'name_embedding', s.vector)
}

// name: drop_staged_vectors
// Forget what is staged, in every group.
MATCH (s:GraphmemStagedVector) DELETE s
