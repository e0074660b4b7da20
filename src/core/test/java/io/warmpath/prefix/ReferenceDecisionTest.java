package io.warmpath.prefix;

class ReferenceDecisionTest extends DecisionContract {
    @Override
    protected PrefixIndex create(DecisionLimits limits) {
        return new ReferencePrefixIndex(100, limits);
    }
}
