package io.troupe.node.offline;

import io.troupe.etcd.DatabaseImport;
import java.nio.file.Path;

/** What a restore makes of a snapshot: one member of a new cluster (SN2). */
record RestoreSettings(
    Path snapshot,
    TargetDirectory target,
    NewCluster cluster,
    boolean skipHashCheck,
    DatabaseImport.Revisions revisions) {}
