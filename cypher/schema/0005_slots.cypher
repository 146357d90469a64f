// name: assertion_by_source_slot
// Assertions by source and relation of the fact they speak of now: who is spoken of often is in few facts of one relation.
CREATE INDEX gm_assertion_source_slot IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.key_source, n.key_relation);

// name: assertion_by_target_slot
// Assertions by target and relation of the fact they speak of now.
CREATE INDEX gm_assertion_target_slot IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.key_target, n.key_relation);
