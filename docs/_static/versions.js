// The list of versions in the side bar. `python -m docs.publish` writes versions.js beside the
// folders of all versions, so that pages of an old version know the newer ones; a site of one
// version has none, and shows no list.
addEventListener("DOMContentLoaded", () => {
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const script = document.createElement("script");
  script.src = new URL("../versions.js", root);
  script.onload = () => {
    for (const select of document.querySelectorAll(".versions select")) {
      for (const version of window.halfwarpVersions) {
        const isThis = version === select.dataset.version;
        select.add(new Option(version, version, isThis, isThis));
      }
      select.onchange = async () => {
        const folder = new URL(`../${select.value}/`, root);
        const same = new URL(location.href.slice(root.href.length), folder);
        const found = await fetch(same, { method: "HEAD" }).catch(() => null);
        location.href = found && found.ok ? same : new URL("index.html", folder);
      };
      select.closest(".versions").hidden = false;
    }
  };
  document.head.append(script);
});
