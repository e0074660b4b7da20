// Lines over time, by uPlot, in the colours of the theme; beside each chart stands a table or a sentence that says the same.

/* global uPlot */

const STROKES = ['--line-a', '--line-b', '--line-c'];
const DASHES = [[], [6, 4], [2, 3]]; // lines differ by more than colour
const HEIGHT = 180;

const clock = seconds => new Date(1000 * seconds).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'});
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Draws into a node, or draws its new values. `series`: [{name, values}], `times`: seconds since 1970. */
export class Chart {
    constructor(node, say) {
        this.node = node;
        this.say = say;
        this.plot = null;
        this.shape = '';
        this.resized = new ResizeObserver(() => this.plot?.setSize({width: this.width(), height: HEIGHT}));
        this.resized.observe(node);
    }

    width() {
        return Math.max(200, this.node.clientWidth);
    }

    draw(times, series) {
        const data = [times, ...series.map(s => s.values)];
        const shape = series.map(s => s.name).join('\n') + document.documentElement.dataset.theme;
        if (this.plot && shape === this.shape) {
            this.plot.setData(data);
            return;
        }
        this.plot?.destroy();
        this.shape = shape;
        const axis = {stroke: colour('--text'), grid: {stroke: colour('--edge'), width: 1}, ticks: {stroke: colour('--edge')}};
        this.plot = new uPlot({
            width: this.width(),
            height: HEIGHT,
            cursor: {y: false},
            scales: {y: {range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.05 : 1]}},
            axes: [{...axis, values: (_, ticks) => ticks.map(clock)}, {...axis, size: 60, values: (_, ticks) => ticks.map(this.say)}],
            series: [{value: (_, v) => v === null ? '' : clock(v)}, ...series.map((s, i) => ({
                label: s.name,
                stroke: colour(STROKES[i % STROKES.length]),
                dash: DASHES[i % DASHES.length],
                width: 2,
                value: (_, v) => this.say(v),
            }))],
        }, data, this.node);
    }

    stop() {
        this.resized.disconnect();
        this.plot?.destroy();
    }
}
