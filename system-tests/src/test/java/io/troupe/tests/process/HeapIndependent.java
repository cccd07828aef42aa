package io.troupe.tests.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that the profile {@code small-heap} leaves out. Its outcome does not depend on the heap of
 * its members, because they take little load: commands, files, starts, clients, membership, single
 * faults.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("heap-independent")
public @interface HeapIndependent {}
