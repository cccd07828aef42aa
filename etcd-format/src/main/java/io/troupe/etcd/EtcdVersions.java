package io.troupe.etcd;

/**
 * Versions that a database contains, in etcd's long form.
 *
 * @param storage of the data, such as {@code 3.7.0} (V3)
 * @param cluster of the cluster, such as {@code 3.7.0} (V1)
 */
public record EtcdVersions(String storage, String cluster) {}
