// The words of the pages, in the language that was chosen. It follows cards.js; the server has filled #language.

// The language that was last chosen in this browser, or else the one that the page came with.
function chosenLanguage() {
  const known = [...$("language").options].map(({ value }) => value);
  return known.includes(localStorage.language) ? localStorage.language : document.documentElement.lang;
}

async function loadWords(language) {
  useWords(await (await fetch(`/words/${language}.json`)).json(), language);
  $("language").value = language;
}

// Lets the reader choose a language; `lost` is called where the server does not answer.
function listenForLanguage(change, lost) {
  $("language").onchange = () => {
    localStorage.language = $("language").value;
    change(localStorage.language).catch(lost);
  };
}
