"""Tables of English: what a full stop belongs to, what is written together, what stays in one piece.

The conventions are those of Universal Dependencies for English as GUM applies them. They follow the Penn Treebank but
for hyphens: `well-known` is three words, `non-profit` is one.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A name follows these: the full stop is theirs and no sentence ends there.
BEFORE_NAMES = _set("""
    Adm Brig Capt Cmdr Col Cpl Det Dr DR Drs Fr Ft Gen Gov Hon Insp Lt Maj Messrs Mlle Mme Mr MR Mrs MRS Ms MS
    Mt Mx Pres Prof PROF Pte Pvt Rep Reps Rev Revd Sen Sens Sgt St Ste Supt
""")
# These have a full stop of their own wherever they stand; a sentence may end with one.
ABBREVIATIONS = _set("""
    al approx Assn Assoc Attn Ave Blvd Bros cf Co Corp Dept eg esp Esq etc Govt hr hrs ie Inc Intl Jr lb lbs Ltd
    Natl oz Ph Pty Rd Sr Univ viz vs wk yr yrs Jan Feb Apr Aug Sept Oct Nov Dec Mon Tue Tues Thu Thur Thurs Fri
    Ala Ariz Calif Colo Conn Fla Ga Ky Md Mich Minn Nev Okla Pa Penn Tenn Tex Va Vt Wis Wyo
""")
# These have one before a number ("No. 5", "p. 12", "Sun. 3 May") and are common words, or end sentences, elsewhere.
BEFORE_NUMBERS = _set("""
    App Art art Arts b Bk c ca Cap Ch ch Chap chap col d div ed Eq eq Eqs eqs Ex ex Ext ext Fig fig Figs figs fl
    Jul Jun m Mar n No no Nos nos Op op p Para para pp Pt pt r Ref Refs Sat Sec sec Sect Sun Tab Tel tel v Vol
    vol Vols vols Wed
""")
# These have one after a number where the sentence goes on: "5 min. to go".
MEASURES = _set("ft gal mi min mins sec secs")
# After "etc." or "U.S." a capital may begin a name as well as a sentence: these words begin sentences.
STARTERS = _set("""
    A After All Also Although An And Another Any As At Because Before Both But By Can Could Did Do Does During
    Each Even Every Finally First For From Further Furthermore Had Has Have He Her Here His How However I If In
    Indeed Instead Is It Its Just Last Later Like Many Maybe Meanwhile More Moreover Most Much My Next No Nor
    Not Now Of Oh On Once One Only Or Other Others Our Over People Perhaps Please She Should Similarly Since So
    Some Sometimes Soon Still Such Than Thanks That The Their Then There Therefore These They This Those Though
    Through Thus To Today Two Under Unfortunately Unless Until Was We Well Were What When Where Whether Which
    While Who Why Will With Within Without Would Yes Yet You Your
""")
# Bound to what follows by a hyphen: one word together with it.
PREFIXES = _set("""
    ambi ante anti arch auto bi bio co contra counter cross cyber de dis e electro ethno ex extra geo hydro
    hyper il infra inter intra ir iso kilo macro mal mega meta micro mid mini mis mono multi non omni para post
    pre pro proto pseudo psycho re retro semi socio sub super supra tele trans tri turbo ultra un uni
""")
# Bound to what precedes by a hyphen.
SUFFIXES = _set("esque ish wise")
# Cries: a hyphen between two of them parts no words.
CRIES = _set("""
    ah aha aw ay ba bla blah da doo duh eee eh ha hah he hee heh hm hmm ho hoo huh la m mhm mm mmm na nah no
    nope nuh oh oi oo ooh oops ow ta uh um whoa whoo woo wow ya yay yeah yee yo yoo yup za
""")
# Words written together; a bar where they part.
_JOINED = """
    can|not gon|na got|ta wan|na lot|ta out|ta gim|me lem|me du|n|no what|cha d'|you d’|you y'|all y’|all 't|is
    ’t|is 't|was ’t|was ai|nt are|nt ca|nt could|nt did|nt do|nt does|nt had|nt has|nt have|nt is|nt should|nt
    was|nt were|nt wo|nt would|nt you|re they|re you|ll they|ll i|ve you|ve they|ve that|s what|s there|s here|s
"""
JOINED = {entry.replace("|", ""): tuple(map(len, entry.split("|"))) for entry in _JOINED.split()}
# What is left of words after an apostrophe that opens no quotation.
CLIPPED = _set("bout cause coz cuz d em ere kay ll m n neath re round s sup til till tis twas ve")
# Units that part from their number: "5km", "6:00am".
UNITS = _set("""
    A.M a.m AM am bn cm days ft g GB GHz hh hr hrs Hz K k KB kB kb kg kHz km kph lb lbs m MB mg MHz min mins
    minutes mL ml mm mph nm oz P.M p.m percent PM pm px sec secs sq TB x yr yrs º
""")
# Slashes that part no alternatives.
SLASHED = _set("b/c c/o i/o n/a s/he w/o")
# What the name of a site ends in.
TOP_DOMAINS = _set("""
    at au be biz br ca ch cn co com cz de dk edu es eu fi fr gl gov gr hk ie il in info int io it jp kr ly me
    mil mx net nl no nz org pl pt ru se sg tr tv tw ua uk us za
""")
# What people do with quotations: "Why?" she asked.
REPORTING = _set("""
    added adds agreed answered answers ask asked asks began begins called calls continued continues cried cries
    cry demanded exclaimed explained explains goes howled inquired insisted laughed murmured muttered repeated
    replied replies reply said say says screamed shouted shouts sighed snapped started suggested tells thinks
    thought told went whispered whispers wondered writes wrote yelled yells
""")
