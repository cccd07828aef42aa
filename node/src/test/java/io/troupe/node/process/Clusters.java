package io.troupe.node.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that mostly waits, for several members at once or for time to pass, and whose limits of
 * time are wide. Two such classes run side by side, apart from those that take all of the
 * processors.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("clusters")
public @interface Clusters {}
